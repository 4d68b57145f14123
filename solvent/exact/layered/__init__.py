"""Games that are layered in time, solved out of core: a layer after the other, in a folder."""
