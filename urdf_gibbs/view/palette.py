"""The colours of all drawings: told apart by colour-blind readers, on white and on black (Okabe and Ito)."""

from __future__ import annotations

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
BRANCHES = PALETTE[:7]  # black is lost on a dark page
LINK_RGBA = (0.72, 0.74, 0.77, 1.0)  # a link whose file gives no colour
MISSING_RGBA = (0.84, 0.37, 0.0, 0.55)
COLLISION_RGBA = (0.902, 0.624, 0.0, 0.4)
