// All of what the quick file runs a share of.
import './exhaustive.test.ts';
