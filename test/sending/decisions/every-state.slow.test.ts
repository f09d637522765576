// All of what the quick file runs a share of.
import './every-state.test.ts';
