"""Jack's car rental of Sutton and Barto, Example 4.2: its rules."""
