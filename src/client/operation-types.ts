import type { z } from 'zod';
import type { Operations } from '../faces/api/operations.ts';

export type OperationName = keyof Operations;

/** The fields of a schema as a caller gives them: optional where they have a default. */
type FieldsOf<Shape> =
  Shape extends z.ZodObject<infer Fields>
    ? keyof Fields extends never
      ? unknown
      : { [Key in keyof z.input<Shape>]: Key extends keyof z.output<Shape> ? z.output<Shape>[Key] : never }
    : unknown;

/** Parameters of the path, the query and the fields of the body, in one object. */
export type ArgumentsOf<Name extends OperationName> = FieldsOf<Operations[Name]['params']> &
  FieldsOf<Operations[Name]['query']> &
  FieldsOf<Operations[Name]['body']>;

type JsonOfAnswer<Answer> = Answer extends { shape: infer Shape extends z.ZodType } ? z.output<Shape> : never;

/** The JSON of an answer by its status. */
export type AnswerOf<
  Name extends OperationName,
  Status extends keyof Operations[Name]['answers'],
> = JsonOfAnswer<Operations[Name]['answers'][Status]>;

type Answers<Name extends OperationName> = Operations[Name]['answers'][keyof Operations[Name]['answers']];

/** JSON, or a file as its response. */
export type ResultOf<Name extends OperationName> =
  Answers<Name> extends { type: string } ? Response : JsonOfAnswer<Answers<Name>>;

export type CallOptions = {
  signal?: AbortSignal;
  /** Of a decision. Left out: a new one for each call, and the same in all its tries. */
  idempotencyKey?: string;
};

/** A method of the client; without arguments where none is needed. */
export type Method<Name extends OperationName> =
  unknown extends ArgumentsOf<Name>
    ? (given?: Record<never, never>, options?: CallOptions) => Promise<ResultOf<Name>>
    : Record<never, never> extends ArgumentsOf<Name>
      ? (given?: ArgumentsOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>
      : (given: ArgumentsOf<Name>, options?: CallOptions) => Promise<ResultOf<Name>>;

/** What happened: narrow `data` by `type`. */
export type CounterfoilEvent = ResultOf<'listEvents'>['events'][number];

export type BatchAnswer = ResultOf<'getBatch'>;
/** A batch that was taken in; one that an earlier try took, whose answer was lost, has no `warnings` and `skipped`. */
export type PostedBatch = BatchAnswer & Partial<AnswerOf<'postBatch', 201>>;

/** The method and path of an operation. */
export type PlaceOf<Name extends OperationName> =
  `${Uppercase<Operations[Name]['method']>} ${Operations[Name]['path']}`;
