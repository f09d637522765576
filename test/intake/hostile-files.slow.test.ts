// All of what the quick file runs a share of.
import './hostile-files.test.ts';
