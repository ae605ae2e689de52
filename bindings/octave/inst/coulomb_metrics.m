function [metrics, answer] = coulomb_metrics(frame, sol, n)
% metrics = coulomb_metrics(frame, sol, n)             metrics of a solution of h5_build_stap_reduced(frame, n)
% metrics = coulomb_metrics(frame, answer)             metrics of an answer: velocities, lambda, normal, tangent
% [metrics, answer] = coulomb_metrics(frame, sol, n)   and the answer: velocities and impulses of the bodies
%
% metrics is a struct with one number for each metric of ss_metrics: those of the BPMD paper (resting, sliding,
% sticking, penetration, alignment, creep, anomalous_friction ...), the energy error (energy, in J) and the others;
% NaN = does not apply. They are measured against Coulomb's law, not against its polygon. n is 8 by default.
%
% Example:
%   [A, b] = h5_build_stap_reduced(frame, 8);
%   metrics = coulomb_metrics(frame, my_lemke(A, b), 8);
%   [metrics.creep_max, metrics.energy]
%
% See also h5_build_stap_reduced, ss_judge, ss_metrics
  if isstruct(sol)
    answer = sol;
    metrics = ss_judge(frame, answer);
    return
  end
  if nargin < 3
    n = 8;
  end
  [A, b, problem] = h5_build_stap_reduced(frame, n);
  if numel(sol) ~= numel(b)
    error('stickslip:usage', 'coulomb_metrics: %d unknowns, expected %d for %d directions', numel(sol), numel(b), n);
  end
  answer = ss_recover(problem, problem.lcp(sol(:)));
  metrics = ss_judge(frame, answer, 'formulation', problem.formulation, 'with', problem.with);
end
