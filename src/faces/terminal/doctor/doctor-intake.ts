import type { App } from '../../../app/app.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { waitingWhy } from '../../../core/domain/waiting-file.ts';
import { rejectedFindings } from '../../../findings/ledger-findings.sql.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { promisedFiles } from '../../json/status-standing.ts';
import { promisedLines } from '../status/promised.ts';
import { type DoctorCheck, well, wrong } from './doctor-check.ts';

/** Checks for refused files, files that are still being written, and files that differ from what the ledger says (P34). */
export async function checkIntake(app: App<'local'>): Promise<DoctorCheck> {
  const promised = await promisedFiles(app);
  for (const one of [...promised.findings, ...(await rejectedFindings(app.ledger.db))]) {
    const { problem, fix } = findingWords[one.kind].doctor(one);
    return wrong('files', problem, fix);
  }
  const { files, waiting } = await app.lying();
  const unfinished = waiting.map(({ name, why }) => `${visible(name)}: ${waitingWhy(why)}`);
  const [first = `${files} waiting in the inbox; the archive is what was read`] = [
    ...promisedLines(promised),
    ...unfinished,
  ];
  return well('files', first.trim());
}
