"""The exercises of this package: a file each (:mod:`solvent.grading.grades`)."""
