import {
  type BinaryOperationNode,
  OperatorNode,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type RawNode,
  ValueListNode,
} from 'kysely';
import { postgresForm } from './dialect.ts';
import { definitionFor } from './postgres-schema.ts';

/**
 * Compiles the ledger's queries for PostgreSQL. It replaces parts that have a PostgreSQL form, translates table
 * definitions, and leaves out hints to SQLite's planner.
 */
export class LedgerPostgresCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand: list } = node;
    const isEmpty = (ValueListNode.is(list) || PrimitiveValueListNode.is(list)) && list.values.length === 0;
    // SQLite accepts an empty list, which contains nothing.
    if (isEmpty && OperatorNode.is(operator)) this.append(operator.operator === 'not in' ? 'true' : 'false');
    else super.visitBinaryOperation(node);
  }

  protected override visitRaw(node: RawNode): void {
    const own = postgresForm(node);
    if (own) {
      this.visitNode(own);
      return;
    }
    const [first = ''] = node.sqlFragments;
    const sqlFragments = /^\s*(create|alter)\s/.test(first)
      ? node.sqlFragments.map(definitionFor)
      : node.sqlFragments.map(withoutHints);
    super.visitRaw({ ...node, sqlFragments });
  }
}

function withoutHints(fragment: string): string {
  return fragment.includes('indexed by') ? fragment.replaceAll(/ indexed by \w+/g, '') : fragment;
}
