import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { waitingWhy } from '../../../core/domain/waiting-file.ts';
import { openRejectedFiles } from '../../../core/ledger/rejected-files.ts';
import { rejectedText } from '../../../words/rejected-words.ts';
import { promisedStanding } from '../status/promised.ts';
import { type DoctorCheck, well, wrong } from './doctor-check.ts';

/** Checks for refused files, files that are still being written, and files that differ from what the ledger says (P34). */
export async function checkIntake(app: App<'local'>): Promise<DoctorCheck> {
  const { lines, faults } = await promisedStanding(app);
  const [fault] = faults;
  if (fault !== undefined) {
    const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
    const fix =
      'compare the file with its source: what came late was never read. Give it again in a file of its own, with its own references';
    return wrong('files', `${fault}${more}`, fix);
  }
  const rejected = await openRejectedFiles(app.ledger.db);
  const [oldest] = rejected;
  if (oldest !== undefined) {
    const more = rejected.length > 1 ? `, and ${counted(rejected.length - 1, 'more file')}` : '';
    const fix = `correct ${visible(oldest.place)} and drop it again, or end it: counterfoil ack ${visible(oldest.name)} --note "why nothing is missing"`;
    return wrong('files', `${rejectedText(oldest)}${more}`, fix);
  }
  const { files, waiting } = await app.lying();
  const unfinished = waiting.map(({ name, why }) => `${visible(name)}: ${waitingWhy(why)}`);
  const [first = `${files} waiting in the inbox; the archive is what was read`] = [...lines, ...unfinished];
  return well('files', first.trim());
}
