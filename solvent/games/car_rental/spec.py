"""Jack's car rental, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="car-rental",
    make="solvent.games.car_rental.rules:CarRental",
    rules=(
        "Move up to five cars between two locations each night, for $2 each. By day\n"
        "customers rent them for $10, if there are any, and bring others back."
    ),
    environments={
        "solvent/CarRental-v0": Environment(
            optimum=563.6871643084413,
            model_hash="cde6cd304bbc135d49fe33fa0487d5d5b67bae7aeac719f5e212ddc15f85872a",
        ),
    },
    discount=0.9,
)
