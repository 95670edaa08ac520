"""Where a kernel runs, one file for each kind of device. A device runs and counts; it does not judge."""
