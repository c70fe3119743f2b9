"""The shape of the region: where it ends along lines, how far it reaches, whether it ends."""
