import { proveModel } from './prove-model.ts';

const missing = await proveModel({
  attempts: 2,
  orders: 1,
  crashes: 1,
  say: (line) => process.stdout.write(`${line}\n`),
});
// Not proved is not passed.
if (missing !== null) process.exitCode = 1;
