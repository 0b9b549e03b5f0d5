import type { Session, Visibility } from '../../contract/session.ts';

const MEANINGS: Record<Exclude<Visibility, 'team'>, string> = {
  facts: 'Only its person reads this session; others see its facts',
  private: 'Only its person sees this session',
};

/** Beside a session that not every member may read. */
export const VisibilityMark = ({ session: { visibility = 'team' } }: { session: Session }) =>
  visibility === 'team' ? null : (
    <span className="tag" title={MEANINGS[visibility]}>
      {visibility}
    </span>
  );
