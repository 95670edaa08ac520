"""Speed measurements of Warpsight's own parts, printed as ratios within one run wherever a comparison is made. Run: `make bench`."""
