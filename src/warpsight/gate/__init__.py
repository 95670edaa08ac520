"""Is it right: inputs, expected values, comparison, verdict. The parent decides; the device only runs."""
