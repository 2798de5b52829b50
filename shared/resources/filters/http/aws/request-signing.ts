/** Settings and stats of envoy.filters.http.aws_request_signing. */
import type { SigningAlgorithm } from '../../../../aws/signature.ts';
import type { StringMatcher } from '../../../routes/matchers.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GenericSecret } from '../../../generic-secret.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface AwsSigningOptions {
  readonly service: string;
  /** The region; for `v4a` a set, with commas. */
  readonly region: string;
  readonly algorithm: SigningAlgorithm;
  /** As `credentials-text.ts` writes them; none are there while it is empty. */
  readonly credentials: GenericSecret;
  readonly excludedHeaders: readonly StringMatcher[];
  /** Empty: all that are not excluded. */
  readonly includedHeaders: readonly StringMatcher[];
  /** Absent: the signature travels in headers, else in the query, and holds for so long. */
  readonly queryExpiresS?: number;
  /** Empty: the request's own. */
  readonly hostRewrite: string;
  readonly isPayloadUnsigned: boolean;
}

export interface AwsSigningPerRoute {
  readonly options: AwsSigningOptions;
  /** As it was written; its stats stand below it. */
  readonly statPrefix: string;
}

/** Prefix: `http.<stat_prefix>.aws_request_signing.` */
export const AWS_REQUEST_SIGNING = defineTemplate('aws_request_signing', {
  payload_signing_added: counter('Requests that were signed with their bodies'),
  payload_signing_failed: counter('Never counted: every request has what is signed'),
  signing_added: counter('Requests that were signed'),
  signing_failed: counter('Never counted: every request has what is signed'),
});

export type AwsRequestSigningFilterSettings = FilterResource<
  'aws_request_signing',
  AwsSigningOptions
>;

export const AWS_REQUEST_SIGNING_DECLARATION =
  declareKind<AwsRequestSigningFilterSettings>(AWS_REQUEST_SIGNING);
