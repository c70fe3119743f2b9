"""Tests of the joint region that is written anew, against the recorded answers."""
