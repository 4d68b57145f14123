"""Jack's car rental, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="car-rental",
    make="solvent.games.car_rental.rules:CarRental",
    rules=(
        "Move up to five cars between two locations each night, for $2 each.\n"
        "Each day customers rent available cars for $10 and return earlier rentals."
    ),
    environments={
        "solvent/CarRental-v0": Environment(
            optimum=563.6871643604604,
            model_hash="155a1cb08b20544935eb48ec6fbc4df71d50bb59d89783db61cc63b2a792edf2",
        ),
    },
    discount=0.9,
)
