"""The parts of a report about Football Strategy."""
