import './next-due.test.ts';
