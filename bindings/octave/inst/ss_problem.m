function [problem, losses] = ss_problem(frame, formulation, options)
% problem = ss_problem(frame)                          Coulomb's law on cones
% problem = ss_problem(frame, formulation)             by a formulation of ss_formulations
% problem = ss_problem(frame, formulation, options)    with its options: a struct or a text
% problem = ss_problem(cone)                           of a problem without bodies, as in FCLIB files
% [problem, losses] = ss_problem(...)                  and what the formulation cannot express
%
% w = A x + b, and for each unknown a law between x and w, in blocks:
%
%   free      w = 0
%   box       lower <= x <= upper; x = lower: w >= 0, x = upper: w <= 0, between: w = 0. An LCP has 0 and Inf
%   coupled   a box whose bounds follow another unknown: abs(x) <= factor abs(x(partner))
%   cone      x(1) >= 0, norm(x(2:3)) <= mu x(1), Coulomb's law; x(1) is the normal impulse
%   convex    the same, relaxed to a convex problem
%
% Fields: A (sparse), b, lower, upper, partner (0 = none), factor, diagonal, symmetric; blocks.law (cells),
% blocks.first, .size, .mu, .mu_rolling, .contact, .constraint (0 = none), one entry per block; formulation, with,
% frame. All impulses in N s, all velocities in m/s.
%
% Example:
%   problem = ss_problem(frame, 'stewart-trinkle', struct('directions', 8));
%   spy(problem.A)
%
% See also ss_solve, ss_recover, ss_lcp, ss_formulations
  frame = ss_subject(frame);
  losses = struct('kind', {}, 'place', {}, 'message', {});
  if isfield(frame, 'form')
    problem = stickslip_mex('cone_problem', frame);
    return
  end
  if nargin < 2 || isempty(formulation)
    formulation = 'cone';
  end
  if nargin < 3
    options = '';
  end
  [problem, losses] = stickslip_mex('problem', frame, formulation, ss_text(options));
  problem.frame = frame;
end
