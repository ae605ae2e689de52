function ss_replace(w, what, f)
% ss_replace(w, what, f)   a function of yours in the place of a part of the simulator
%
% ss_replace(w, 'collision', @() contacts)   a struct: bodies (2 x n; 0 = the world), points (3 x n),
%                                            normals (3 x n, unit, from the first body to the second),
%                                            gaps (n) and, if it is not that of the default material, mu (n)
% ss_replace(w, 'solver', @(A, b) z)         z >= 0, A z + b >= 0, z' (A z + b) = 0: the LCP of the
%                                            formulations stewart-trinkle, anitescu-potra and frictionless,
%                                            joints eliminated; z = [normal impulses of all contacts;
%                                            friction impulses, contact by contact; sliding speeds]
% ss_replace(w, 'dynamics', @(frame) V)      velocities after the step, 6 x bodies of the frame: formulation
%                                            and solver in one
% ss_replace(w, what, []) restores ours.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_replace(w, 'solver', @(A, b) max(0, -b ./ diag(A)));
%   ss_start(w, 'formulation', 'frictionless');
%
% See also ss_on, ss_start
  if ~isempty(f)
    if ~isa(f, 'function_handle')
      error('stickslip:usage', 'ss_replace: expected a function handle, or [] for none');
    end
    f = @(varargin) ss_guard(f, varargin{:});
  end
  stickslip_mex('world_replace', w.id, what, f);
end
