/** Resolves the listener filter set_filter_state. */
import type { Config } from '../../../../shared/api/generated/envoy/extensions/filters/listener/set_filter_state/v3/set_filter_state.ts';
import type { ListenerFilterStateSettings } from '../../../../shared/resources/filters/listener/set-filter-state.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveFilterStateValues } from '../common/filter-state-values.ts';

const FIELDS = knownFields<Config>(['on_accept']);

export const LISTENER_FILTER_STATE_FILTER = extension(
  'envoy.filters.listener.set_filter_state',
  'envoy.extensions.filters.listener.set_filter_state.v3.Config',
  (message: Config, scope): ListenerFilterStateSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return {
      kind: 'listener_set_filter_state',
      onAccept: resolveFilterStateValues(message.on_accept, scope.at('on_accept')),
    };
  },
);
