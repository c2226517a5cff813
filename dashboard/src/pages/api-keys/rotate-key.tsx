import { useState } from 'react';

import type { ApiKey } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { SelectField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { nameOf } from '../../lib/text.ts';
import { TokenDialog } from './token-dialog.tsx';

const overlaps = [
  ['0', 'ends at once'],
  ['3600', 'works for 1 more hour'],
  ['86400', 'works for 1 more day'],
  ['604800', 'works for 7 more days'],
] as const;

type Overlap = (typeof overlaps)[number][0];

export function RotateKey({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const [rotated, setRotated] = useState<ApiKey>();
  const change = useChange('ApiKeysRotate');
  const run = async (): Promise<void> => {
    const reply = await change.run({ path: { id: apiKey.id }, body: { overlap_seconds: Number(overlap) } });
    if (reply !== undefined) setRotated(reply.document);
  };
  if (rotated !== undefined) return <TokenDialog apiKey={rotated} onClose={onClose} />;
  return (
    <FormDialog
      title={`Give “${nameOf(apiKey)}” a new token?`}
      act="Make a new token"
      cancel="Keep the token"
      keepsFirst
      isPending={change.isPending}
      error={change.error}
      onSubmit={() => void run()}
      onClose={onClose}
    >
      <p>The key keeps its id, owner and limits. The new token is shown once.</p>
      <SelectField label="The token in use" value={overlap} options={overlaps} onChange={setOverlap} />
    </FormDialog>
  );
}
