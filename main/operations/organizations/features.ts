/** Organization features: what an organization has switched on, and with which value. */
import { z } from 'zod';
import { activity } from '../../activities/define.ts';
import { listFeatures, removeFeature, setFeature } from '../../storage/tables/features.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { readWebOrigins } from '../../lib/web/web-origins.ts';
import { featureNames, shownFeature } from '../shared/resources.ts';
import { checkWebhookUrl } from '../webhooks/webhook-rules.ts';

type FeatureName = (typeof featureNames)[number];

const webhook: FeatureName = 'FEATURE_NAME_WEBHOOK';

/** Both that a feature is set and that it is removed decide who is sent events. */
const changesRights = ({ name }: { readonly name: FeatureName }): boolean => name === webhook;

const mostCharacters = 2000;

/** Rules for the values of features; a feature without a rule is a switch, whose value is ignored. */
const values: Partial<
  Record<FeatureName, { readonly expected: string; readonly fits: (value: string) => boolean }>
> = {
  FEATURE_NAME_WEBAUTHN_ORIGINS: {
    expected:
      'web origins like https://app.example, one, several with commas between, or a JSON list of them',
    fits: (value) => readWebOrigins(value) !== undefined,
  },
};

/** The pages that may use passkeys; without it, every page of the relying party. */
const passkeyPages: FeatureName = 'FEATURE_NAME_WEBAUTHN_ORIGINS';

const name = z.enum(featureNames);
const returns = z.object({ features: z.array(shownFeature) });

export const setOrganizationFeature = activity({
  path: 'set_organization_feature',
  summary: 'Switches a feature on, or gives it another value.',
  title: 'Set a feature',
  type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  intent: 'setOrganizationFeatureIntent',
  result: 'setOrganizationFeatureResult',
  authority: { resource: 'ORGANIZATION', action: 'UPDATE', rootQuorumOnly: true, changesRights },
  stepUp: { for: 'wayIn', when: ({ name }) => name !== webhook },
  params: z.object({ name, value: z.string().max(mostCharacters).optional() }),
  returns,
  run(context) {
    const { tx, organizationId, params, now } = context;
    const { name: feature, value = '' } = params;
    if (feature === webhook) checkWebhookUrl(context, 'parameters.value', params.value);
    const rule = values[feature];
    if (rule && !rule.fits(value)) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.value: ${feature} expects ${rule.expected}, got ${quoted(params.value)}`,
      );
    }
    setFeature(tx, organizationId, { name: feature, value }, now);
    return { features: listFeatures(tx, organizationId) };
  },
});

export const removeOrganizationFeature = activity({
  path: 'remove_organization_feature',
  summary: 'Switches a feature off.',
  title: 'Remove a feature',
  type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
  intent: 'removeOrganizationFeatureIntent',
  result: 'removeOrganizationFeatureResult',
  authority: { resource: 'ORGANIZATION', action: 'UPDATE', rootQuorumOnly: true, changesRights },
  stepUp: { for: 'wayIn', when: ({ name }) => name === passkeyPages },
  params: z.object({ name }),
  returns,
  run({ tx, organizationId, params }) {
    removeFeature(tx, organizationId, params.name);
    return { features: listFeatures(tx, organizationId) };
  },
});
