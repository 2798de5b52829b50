/**
 * `on_processing_response` of envoy.filters.http.ext_proc. What the one known kind keeps is filter
 * state that only code inside of Envoy can read, so there is nothing to keep here.
 */
import type { TypedExtensionConfig } from '../../../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import type { Scope } from '../../../scope.ts';

const PROCESSORS = new ExtensionRegistry<true>(
  'envoy.http.ext_proc.response_processors',
  'response processor',
  [
    extension(
      'envoy.extensions.http.ext_proc.save_processing_response',
      'envoy.extensions.http.ext_proc.response_processors.save_processing_response.v3.SaveProcessingResponse',
      () => true as const,
    ),
  ],
);

export function checkResponseProcessor(
  message: TypedExtensionConfig | undefined,
  scope: Scope,
): void {
  if (message !== undefined) PROCESSORS.find(message, scope);
}
