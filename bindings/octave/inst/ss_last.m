function [frame, answer] = ss_last(w)
% [frame, answer] = ss_last(w)   the last step of a world as a frame: a problem like any other
%
% [frame, answer] = ss_last(w)
%
% Example:
%   w = ss_world('box-pyramid');
%   ss_step(w);
%   result = ss_solve(ss_last(w), 'nsgs');
%
% See also ss_step, ss_judge_step, ss_record
  [frame, answer] = stickslip_mex('world_frame', w.id);
end
