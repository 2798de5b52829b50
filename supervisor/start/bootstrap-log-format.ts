/**
 * The log layout of the bootstrap (`application_log_config.log_format`): a text layout, or a JSON
 * template whose text becomes the layout, so that the flags in its strings and keys are replaced
 * per line.
 */
import type { LogSettings } from '../../shared/logging/log-settings.ts';

/** The message's normalised form. Both absent, or the message itself: nothing is set. */
export interface ApplicationLogConfig {
  readonly log_format?: {
    readonly text_format?: string;
    /** A Struct as plain JSON. */
    readonly json_format?: object;
  };
}

export type LogFormatResult =
  | { readonly kind: 'settings'; readonly settings: LogSettings }
  /** The reason in Envoy's words. */
  | { readonly kind: 'refused'; readonly reason: string };

/** @param isFormatOption whether the command line sets a layout: then the bootstrap may not */
export function withBootstrapLogFormat(
  settings: LogSettings,
  config: ApplicationLogConfig | undefined,
  isFormatOption: boolean,
): LogFormatResult {
  const { text_format: text, json_format: template } = config?.log_format ?? {};
  if (text === undefined && template === undefined) return { kind: 'settings', settings };
  if (isFormatOption) {
    return refused(
      'Only one of ApplicationLogConfig.log_format or CLI option --log-format can be specified.',
    );
  }
  if (template === undefined) {
    return { kind: 'settings', settings: { ...settings, format: text ?? '' } };
  }
  const layout = jsonLayout(template);
  for (const flag of ['%v', '%_']) {
    if (layout.includes(flag)) {
      return refused(
        `setJsonLogFormat error: INVALID_ARGUMENT: Usage of ${flag} is unavailable for JSON log formats`,
      );
    }
  }
  return { kind: 'settings', settings: { ...settings, format: layout } };
}

/** As in Envoy, angle brackets are escaped as well, for those who embed logs in pages. */
function jsonLayout(template: object): string {
  return JSON.stringify(template).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

function refused(reason: string): LogFormatResult {
  return { kind: 'refused', reason };
}
