/** Texts of entries for log services. */
import { repairUtf8 } from '../../../tap/repair-utf8.ts';

/** What stands for a byte that is not UTF-8. */
const NO_TEXT = '!';

/** One character per byte, valid UTF-8. */
export function headerText(value: string): string {
  return repairUtf8(value, NO_TEXT);
}
