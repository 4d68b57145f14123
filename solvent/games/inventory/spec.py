"""Puterman's inventory, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="inventory",
    make="solvent.games.inventory.rules:Inventory",
    rules=(
        "Order goods at the start of each period, up to the capacity; then sales meet the\n"
        "demand, as far as the stock lasts. Orders and goods in stock cost, sales earn."
    ),
    environments={
        "solvent/Inventory-v0": Environment(
            optimum=4.1875,
            model_hash="bf296d04c4ba8d92b401450421351d57e2d45dbe2128bb57255c043d0e7a9d05",
        ),
    },
    layered="solvent.games.inventory.layers:InventorySolution",
)
