"""Puterman's replacement of equipment, as the toolkit knows it."""

from solvent.model.registry import Environment, GameSpec

SPEC = GameSpec(
    name="equipment-replacement",
    make="solvent.games.equipment_replacement.rules:EquipmentReplacement",
    rules=(
        "A machine earns an income and costs the more the more it is worn. Go on with it\n"
        "or replace it, each period; at the end it is sold for scrap."
    ),
    environments={
        "solvent/EquipmentReplacement-v0": Environment(
            optimum=68.93941871890003,
            model_hash="d7b4f3a7889d40927b424c2f24c2de852cdedf2dbad2421c204f92f0ab0b7517",
        ),
    },
)
