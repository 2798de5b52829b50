/** Asks an authorization service by gRPC. */
import type {
  AuthzGrpcService,
  ExtAuthzOptions,
} from '../../../../shared/resources/filters/http/ext-authz.ts';
import { readMessage } from '../../../../shared/protobuf/proto-reader.ts';
import { labelsOf } from '../../common/check-attributes.ts';
import type { FilterContext } from '../../filter-context.ts';
import { CHECK_FAILED, type Checker } from './check.ts';
import { matcherOf, type NamePredicate } from './asked-headers.ts';
import { writeCheckRequest } from './check-request.ts';
import { readCheckResponse } from './check-response.ts';

export const CHECK_METHOD = '/envoy.service.auth.v3.Authorization/Check';

export function makeGrpcChecker(
  { target, timeoutMs }: AuthzGrpcService,
  options: ExtAuthzOptions,
  { grpc, nodeMetadata }: FilterContext,
): Checker & { release(): void } {
  const service = grpc.service(target);
  const facts = {
    options,
    asks: askedBy(options),
    labels: labelsOf(nodeMetadata, options.labelsKey),
  };
  return {
    check: (request, owner) => {
      const call = { method: CHECK_METHOD, timeoutMs, parent: request.info };
      return service.call(call, writeCheckRequest(request, facts), {
        onAnswer: (message) => {
          owner.onOutcome(readMessage(message, readCheckResponse) ?? CHECK_FAILED);
        },
        onFailure: () => owner.onOutcome(CHECK_FAILED),
        onException: () => owner.onException(),
      });
    },
    release: () => service.release(),
  };
}

/** Without a list of what is allowed, everything is that is not disallowed. */
function askedBy({ allowedHeaders, disallowedHeaders }: ExtAuthzOptions): NamePredicate {
  const allowed = allowedHeaders && matcherOf(allowedHeaders);
  const disallowed = matcherOf(disallowedHeaders);
  return (name) => allowed?.(name) !== false && !disallowed(name);
}
