function x = ss_project(problem, x)
% x = ss_project(problem, x)   the nearest x that the laws of a problem allow
%
% Boxes are clamped, cones projected, free unknowns stay. Bounds that follow another unknown are those at x.
%
% Example: one iteration of projected Jacobi
%   x = ss_project(problem, x - 0.1 * (problem.A * x + problem.b) ./ problem.diagonal);
%
% See also ss_problem, ss_solve
  x = stickslip_mex('project', problem, x);
end
