"""What a region looks like, by kind of objective and noise."""
