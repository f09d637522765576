import type { z } from 'zod';
import type { Role } from '../core/settings/settings-schema.ts';
import type { OsUser } from '../sending/approval.ts';

/** Who orders it. */
export type Person = {
  name: string;
  /** All accounts of this person: nobody approves a batch that came from one of them. */
  accounts: readonly OsUser[];
  /** The name that a hold, a release or a halt is noted under; empty: it is noted as a person's, without a name. */
  noted: string;
  /** The operator's own server, which decides only about what names no person. */
  isServer?: true;
};

/** One thing that a person may order. A face parses the input, calls `run`, and words the outcome. */
export type Verb<Parts, Input extends z.ZodType, Outcome, Name extends string = string> = {
  name: Name;
  /** The role that a token needs. */
  can: Role;
  /** Whether it may let money go, or stop it. */
  touchesMoney: boolean;
  input: Input;
  /** `parts`: the parts of the app that it needs. Nothing was done where it is refused. */
  run(parts: Parts, input: z.infer<Input>, person: Person): Promise<Outcome>;
};

/** Checks the type of a verb, and takes its types from its parts. */
export function verb<Parts, Input extends z.ZodType, Outcome, const Name extends string>(
  one: Verb<Parts, Input, Outcome, Name>,
): Verb<Parts, Input, Outcome, Name> {
  return one;
}

/** The source of a history entry that this person causes. */
export function orderSource({ noted }: Person): string {
  return noted === '' ? 'person' : `person:${noted}`;
}
