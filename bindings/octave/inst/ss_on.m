function ss_on(w, stage, f)
% ss_on(w, stage, f)   calls a function of yours at a stage of every step
%
% ss_on(w, 'before-collision', @() ...)    controllers set forces, motors and velocities here
% ss_on(w, 'after-contacts', @(c) keep)    contacts as from ss_contacts; returns true or false for
%                                          each, or [] to keep all
% ss_on(w, 'before-solve', @(frame) ...)   the problem of the step, to look at
% ss_on(w, 'after-step', @() ...)
% ss_on(w, stage, []) ends it. One function for each stage. What it throws undoes the step.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_on(w, 'after-step', @() fprintf('.'));
%   ss_step(w, 10);
%
% See also ss_step, ss_replace
  if ~isempty(f)
    if ~isa(f, 'function_handle')
      error('stickslip:usage', 'ss_on: expected a function handle, or [] for none');
    end
    f = @(varargin) ss_guard(f, varargin{:});
  end
  stickslip_mex('world_call', w.id, stage, f);
end
