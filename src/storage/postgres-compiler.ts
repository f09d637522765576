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
 * Compiles the ledger's queries for PostgreSQL: parts that have a spelling of their own get it, definitions of tables
 * are translated, and hints to SQLite's planner are left out.
 */
export class LedgerPostgresCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand: list } = node;
    const isEmpty = (ValueListNode.is(list) || PrimitiveValueListNode.is(list)) && list.values.length === 0;
    // SQLite knows lists of nothing: nothing is in them.
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
