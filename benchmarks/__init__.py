"""Speed of Warpsight's own parts, as ratios within one run wherever a comparison is made. Run: `make bench`."""
