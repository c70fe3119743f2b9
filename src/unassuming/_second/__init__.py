"""The joint region: noise, ranks, objectives, membership and geometry on one factor."""
