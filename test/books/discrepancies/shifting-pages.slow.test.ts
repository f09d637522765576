// All of what the quick file runs a share of.
import './shifting-pages.test.ts';
