"""Grade exercises: one's own, or those that a class hands in."""
