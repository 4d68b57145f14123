"""The parts of a report about football with a clock."""
