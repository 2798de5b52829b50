/** The options as `/server_info` prints them under `command_line_options`. */
import type { Options } from '../../shared/process/options.ts';
import type { ReportValue } from './option-spec.ts';
import { optionEntries } from './option-table.ts';

/** Every reported key, with the types and forms of Envoy. */
export function commandLineReport(options: Options): Record<string, ReportValue> {
  const report: Record<string, ReportValue> = {};
  for (const [, spec] of optionEntries) {
    if (spec.report === undefined) continue;
    const [key, value] = spec.report;
    report[key] = value(options);
  }
  return report;
}
