/** What holds for one request: the filter's own settings, and what its route says instead. */
import type {
  ExtProcOptions,
  ExtProcOverrides,
  ExtProcPerRoute,
  MetadataNamespaces,
  ProcessingMode,
  ProcessorService,
  SentAttribute,
} from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';

export interface RequestSettings {
  readonly mode: ProcessingMode;
  readonly service: ProcessorService;
  readonly failureModeAllow: boolean;
  readonly requestAttributes: readonly SentAttribute[];
  readonly responseAttributes: readonly SentAttribute[];
  readonly metadata: MetadataNamespaces;
  readonly callMetadata: readonly (readonly [name: string, value: string])[];
}

export function ownSettings(options: ExtProcOptions): RequestSettings {
  return { ...options, callMetadata: [] };
}

/** `levels`: the most specific one first; undefined where it switches the filter off. */
export function settingsOf(
  own: RequestSettings,
  levels: readonly ExtProcPerRoute[],
): RequestSettings | undefined {
  if (levels.length === 0) return own;
  if (levels[0]?.isDisabled === true) return undefined;
  return levels.reduceRight<RequestSettings>(
    (settings, { overrides }) => overridden(settings, overrides),
    own,
  );
}

function overridden(settings: RequestSettings, overrides: ExtProcOverrides): RequestSettings {
  const { metadata, callMetadata, ...rest } = overrides;
  return {
    ...settings,
    ...rest,
    metadata: { ...settings.metadata, ...metadata },
    callMetadata: callMetadata.length > 0 ? callMetadata : settings.callMetadata,
  };
}
