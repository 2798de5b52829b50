/**
 * Turns a JSON template of the bootstrap (`application_log_config.log_format.json_format`) into a
 * log layout: its JSON text, in which the flags of all strings and keys are replaced per line.
 */
import type { JsonTemplate } from './log-settings.ts';

/** @returns the layout, or the reason why the template cannot be used */
export function jsonLayout(
  template: JsonTemplate,
): { kind: 'layout'; layout: string } | { kind: 'refused'; reason: string } {
  // As in the reference, angle brackets are escaped as well, for those who embed logs in pages.
  const layout = JSON.stringify(template).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
  for (const flag of ['%v', '%_']) {
    if (layout.includes(flag)) {
      return { kind: 'refused', reason: `Usage of ${flag} is unavailable for JSON log formats` };
    }
  }
  return { kind: 'layout', layout };
}
