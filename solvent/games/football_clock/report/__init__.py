"""What a report shows of football with a clock."""
