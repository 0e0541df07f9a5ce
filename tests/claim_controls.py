"""The negative control of a claim: had the paper printed something else, the verdict would be another."""

from __future__ import annotations

from urdf_gibbs.reproduce.claims import DIFFERS, IMPOSSIBLE, MACHINE, REPRODUCED, Claim


def uncontrolled(claim: Claim) -> list[str]:
    """The figures that the verdict does not look at.

    A figure that agrees is changed by ten units of its last digit, a word to nonsense; where nothing agrees, figures that would agree
    are put in their place. A comparison of times that decides nothing must be marked as such.
    """
    texts = [figure.text for figure in claim.figures]
    verdict = claim.verdict
    if verdict == MACHINE:
        return [] if claim.timed else ["not timed"]
    if verdict in (DIFFERS, IMPOSSIBLE):
        return [] if claim.otherwise and claim.verdict_on(*claim.otherwise) == REPRODUCED else ["otherwise"]
    changes = [(i, other) for i, figure in enumerate(claim.figures) for other in figure.changed()]
    blind = [f"{texts[i]} -> {other}" for i, other in changes if claim.verdict_on(*texts[:i], other, *texts[i + 1 :]) == verdict]
    return blind if changes else ["no figures"]
