import type { PageProps } from '../../app/pages.ts';
import { BotDetail } from './bot-detail.tsx';
import { BotList } from './bot-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <BotList /> : <BotDetail key={id} id={id} />;
}
