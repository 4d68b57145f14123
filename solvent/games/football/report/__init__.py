"""What a report shows of Football Strategy."""
