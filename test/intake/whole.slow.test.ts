// All of what the quick file runs a share of.
import './whole.test.ts';
